// @ts-check
// Files of the REST API: a link could not send the header that proves the session.

import { request } from "./rest.js";

/**
 * Let the browser save a file, under the name that the server gives it, or `name`.
 * @param {string} path
 * @param {string} name
 */
export async function download(path, name) {
  const response = await request(path);
  const given = fileName(response.headers.get("Content-Disposition") ?? "");
  saveAs(forSpreadsheet(await response.blob()), given || name);
}

/**
 * Return a CSV file with a byte order mark, without which Excel takes UTF-8 for the Windows code page.
 *
 * The REST layer sends none: programs would read it as a part of the first header.
 * @param {Blob} blob
 */
function forSpreadsheet(blob) {
  return blob.type.startsWith("text/csv") ? new Blob(["\ufeff", blob], { type: blob.type }) : blob;
}

/**
 * Return the file name of a Content-Disposition header; empty: it has none.
 * @param {string} header
 */
export function fileName(header) {
  return /filename="([^"\\/]+)"/.exec(header)?.[1] ?? "";
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
export function saveAs(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // the browser reads it after the click
}
