export * from "lit";
export { classMap } from "lit/directives/class-map.js";
export { keyed } from "lit/directives/keyed.js";
export { live } from "lit/directives/live.js";
export { ref, createRef } from "lit/directives/ref.js";
export { repeat } from "lit/directives/repeat.js";
