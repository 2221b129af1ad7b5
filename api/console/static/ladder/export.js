// @ts-check
// A whole ladder as a file: SVG that needs no style sheet of the page.

import { nothing, render, svg } from "../vendored/lit.js";
import { drawHeadings, drawLadder } from "./drawing.js";
import { HEAD, layOut } from "./layout.js";

const WIDTH = 1_200;
const NAMESPACE = "http://www.w3.org/2000/svg";
const STYLE = `
  svg { background: #ffffff; font: 13px sans-serif; color: #17202b; }
  text { fill: #17202b; } .time, .lane-label { fill: #4f5d6d; } .lane-name { font-weight: bold; }
  .row { fill: none; } .lane { stroke: #cfd6df; } .arrow { stroke: #0b5cad; } .head, .dot { fill: #0b5cad; }
  .join { stroke: #0a6b3d; stroke-width: 2; } .span { fill: #cfd6df; } .span.bridge { fill: #0a6b3d; }
  .span.hold { fill: #b3261e; } .span.mute { fill: #855300; } .span.verb { fill: #dbeafb; stroke: #0b5cad; }
  .span.prompt { fill: #7ab8f5; } .failure text { fill: #b3261e; } .failure .dot, .failure .head { fill: #b3261e; }
`;

/**
 * Return the text of an SVG file.
 * @param {import("./model.js").Ladder} ladder
 */
export function toSvgText(ladder) {
  const layout = layOut(ladder, { width: WIDTH });
  const target = document.createElementNS(NAMESPACE, "svg");
  const view = { top: 0, bottom: layout.height, selected: -1, choose: () => {} };
  render(svg`${drawHeadings(ladder, layout)}<g transform="translate(0 ${HEAD})">${drawLadder(ladder, layout, view)}</g>${nothing}`, target);
  target.setAttribute("width", String(layout.width));
  target.setAttribute("height", String(layout.height + HEAD));
  const style = document.createElementNS(NAMESPACE, "style");
  style.textContent = STYLE;
  target.prepend(style);
  return new XMLSerializer().serializeToString(target);
}

/**
 * Let the browser store a file.
 * @param {string} name
 * @param {string} type
 * @param {string} text
 */
export function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
