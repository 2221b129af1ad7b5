// @ts-check
// The tabs of one browser: a call that is rejected in one of them stops ringing in all.

const CHANNEL = "switchroom-phone";

export class Tabs {
  /** @param {(leg: string) => void} onRejected */
  constructor(onRejected) {
    this.channel = new BroadcastChannel(CHANNEL);
    this.channel.onmessage = ({ data }) => {
      if (typeof data?.rejected === "string") onRejected(data.rejected);
    };
  }

  /** @param {string} leg */
  reject(leg) {
    if (leg) this.channel.postMessage({ rejected: leg });
  }

  close() {
    this.channel.close();
  }
}
