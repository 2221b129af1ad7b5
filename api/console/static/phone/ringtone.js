// @ts-check
// The tone of an incoming call, made by the browser: two frequencies, two seconds of six.

const FREQUENCIES_HZ = [440, 480];
const RING_S = 2;
const PERIOD_MS = 6_000;
const VOLUME = 0.08;

export class Ringtone {
  /** @param {() => AudioContext} context of the phone */
  constructor(context) {
    this.context = context;
    this.timer = 0;
    /** @type {OscillatorNode[]} */
    this.oscillators = [];
  }

  start() {
    if (this.timer) return;
    this.ring();
    this.timer = window.setInterval(() => this.ring(), PERIOD_MS);
  }

  stop() {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.oscillators.forEach((each) => each.disconnect());
    this.oscillators = [];
  }

  ring() {
    const context = this.context();
    const gain = context.createGain();
    gain.gain.value = VOLUME;
    gain.connect(context.destination);
    this.oscillators = FREQUENCIES_HZ.map((frequency) => {
      const oscillator = context.createOscillator();
      oscillator.frequency.value = frequency;
      oscillator.connect(gain);
      oscillator.start();
      oscillator.stop(context.currentTime + RING_S);
      return oscillator;
    });
  }
}
