// @ts-check
// The base of the console's components.

import { LitElement } from "../vendored/lit.js";

/**
 * A component that renders into the page itself, not into a shadow tree: so labels, styles and
 * landmarks work as in any page.
 */
export class ConsoleElement extends LitElement {
  createRenderRoot() {
    return this;
  }
}
