// @ts-check
// The phone for pages of others: <switchroom-phone agent credentials-url rest-url>.

import { SwitchroomPhone } from "../components/phone.js";
import { embeddingServer } from "./server.js";

customElements.whenDefined("switchroom-phone").then(() => {
  document.querySelectorAll("switchroom-phone").forEach(connect);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      addedNodes.forEach((each) => each instanceof SwitchroomPhone && connect(each));
    }
  }).observe(document.documentElement, { childList: true, subtree: true });
});

/** @param {Element} element */
function connect(element) {
  const url = element.getAttribute("credentials-url");
  if (element instanceof SwitchroomPhone && url && element.server === null) {
    element.server = embeddingServer(url, element.getAttribute("rest-url") ?? "");
  }
}
