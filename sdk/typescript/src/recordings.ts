// The audio of recordings, by the addresses that events, webhooks, records and lists have.

import { SwitchroomError } from "./errors.js";
import { Recordings } from "./generated/resources.js";
import type { Request, RequestOptions, Sender } from "./request.js";

const ADDRESS = /\/([^/?#]+)\/([^/?#]+)\/([^/?#]+)(?:[?#].*)?$/; // account, day and file

/** Operations on recordings, with their audio. */
export class RecordingFiles extends Recordings {
  readonly #sender: Sender;

  constructor(client: Sender) {
    super(client);
    this.#sender = client;
  }

  /**
   * Return the WAV file of a recording.
   *
   * `recording` is its address, such as the `recordingUrl` of a webhook or the `url` of a list. The
   * file is always requested from this client's server, wherever the address is.
   */
  async download(recording: string, options: RequestOptions = {}): Promise<Uint8Array> {
    return this.#sender.send<Uint8Array>(downloadRequest(recording), options);
  }
}

function downloadRequest(recording: string): Request {
  const parts = ADDRESS.exec(recording)?.slice(1);
  if (parts === undefined) {
    throw new SwitchroomError("recording: expected an address that ends with account, day and file");
  }
  const file = parts.map(decodeURIComponent);
  return { method: "GET", path: ["srmain", "recordings", "files", ...file], isFile: true };
}
