// @ts-check
// <flow-page>: the list of flows, or the one that the address names.

import { html } from "../vendored/lit.js";
import { ConsoleElement } from "../lib/console-element.js";
import { readFilters } from "../lib/address.js";
import "./flow-editor.js";
import "./flow-list.js";

export class FlowPage extends ConsoleElement {
  render() {
    const { id, version = "", sample = "" } = readFilters(["id", "version", "sample"]);
    if (!id) return html`<flow-list></flow-list>`;
    return html`<flow-editor flow=${id} version=${version} sample=${sample}></flow-editor>`;
  }
}

customElements.define("flow-page", FlowPage);
