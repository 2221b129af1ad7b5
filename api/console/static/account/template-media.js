// @ts-check
// The file of a template's header: its kinds, the fields of a form, and the component that it makes.

const MIB = 1_048_576;

/** What the server accepts, by its media kind. */
export const MEDIA_KINDS = {
  image: { accept: "image/jpeg,image/png", types: "JPEG or PNG", maxMib: 5 },
  video: { accept: "video/mp4", types: "MP4", maxMib: 16 },
  document: { accept: "application/pdf", types: "PDF", maxMib: 100 },
};

/**
 * @typedef {import("../forms/values.js").Field} Field
 * @typedef {import("../forms/values.js").Values} Values
 * @typedef {import("./template-content.js").Component} Component
 * @typedef {keyof typeof MEDIA_KINDS} MediaKind
 */

const KINDS = /** @type {MediaKind[]} */ (Object.keys(MEDIA_KINDS));
/** Values of the form that are no part of the request. */
export const MEDIA_FIELDS = ["headerKind", "fileKind", ...KINDS.map(fileField)];

/**
 * Return the fields of a header: its kind among texts or beside JSON, and a file for each kind.
 * @param {MediaKind | ""} current the kind of the file that the template has
 * @returns {Field[]}
 */
export function mediaFields(current) {
  const kinds = KINDS.map((value) => ({ value, label: value }));
  return [
    {
      name: "headerKind",
      path: "mediaKind",
      label: "Kind of header",
      type: "select",
      options: [{ value: "", label: "text, or none" }, ...kinds],
      shown: (values) => values.content !== "json",
    },
    {
      name: "fileKind",
      path: "mediaKind",
      label: "File of the header",
      type: "select",
      options: [{ value: "", label: "as in the JSON" }, ...kinds],
      hint: "A file that is uploaded here takes the place of the header in the JSON.",
      shown: (values) => values.content === "json",
    },
    ...KINDS.map((kind) => toFileField(kind, current)),
  ];
}

/**
 * @param {MediaKind} kind
 * @param {MediaKind | ""} current
 * @returns {Field}
 */
function toFileField(kind, current) {
  const { accept, types, maxMib } = MEDIA_KINDS[kind];
  const kept = kind === current ? " Without one, the template keeps the file that it has." : "";
  return {
    name: fileField(kind),
    path: ["file", "components[0]"], // the header is the first component
    label: `Header's ${kind}`,
    type: "file",
    accept,
    required: kind !== current,
    hint: `${types}, at most ${maxMib} MiB.${kept}`,
    shown: (values) => mediaKindOf(values) === kind,
  };
}

/** @param {MediaKind} kind */
function fileField(kind) {
  return `${kind}File`;
}

/**
 * Return the kind of file that a form is about; empty: none.
 * @param {Values} values
 * @returns {MediaKind | ""}
 */
export function mediaKindOf(values) {
  return (values.content === "json" ? values.fileKind : values.headerKind) || "";
}

/**
 * Return the kind of file in the header of a template; empty: it has none.
 * @param {Component[]} components
 * @returns {MediaKind | ""}
 */
export function headerKindOf(components) {
  const format = components.find((each) => each.type === "HEADER")?.format?.toLowerCase();
  return KINDS.find((kind) => kind === format) ?? "";
}

/**
 * Return what has to be uploaded; null: nothing, the header is as it was, or has no file.
 * @param {Values} values
 * @param {Component[]} before the components of the template
 * @returns {{kind: MediaKind, file: File | null} | null} a file that is missing is the server's error
 */
export function toUpload(values, before) {
  const kind = mediaKindOf(values);
  if (kind === "") return null;
  const file = values[fileField(kind)] ?? null;
  return file === null && kind === headerKindOf(before) ? null : { kind, file };
}

/**
 * Return the server's error of a file that is too large, which is not sent to it; null: it is not.
 * @param {MediaKind} kind
 * @param {{size: number} | null} file
 */
export function sizeError(kind, file) {
  const { maxMib } = MEDIA_KINDS[kind];
  if (file === null || file.size <= maxMib * MIB) return null;
  const message = `larger than ${maxMib} MiB, the maximum for mediaKind ${kind}`;
  return { path: "file", message, code: "too_large" };
}

/**
 * Return the component of a header with a file.
 * @param {MediaKind} kind
 * @param {string} handle of the uploaded file
 */
export function toHeader(kind, handle) {
  return { type: "HEADER", format: kind.toUpperCase(), example: { header_handle: [handle] } };
}
