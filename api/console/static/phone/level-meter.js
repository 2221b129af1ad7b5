// @ts-check
// How loud a stream is.

const SAMPLES = 1_024;
const FLOOR_DB = -60;

export class LevelMeter {
  /**
   * @param {AudioContext} context
   * @param {MediaStream} stream
   */
  constructor(context, stream) {
    this.source = context.createMediaStreamSource(stream);
    this.analyser = context.createAnalyser();
    this.analyser.fftSize = SAMPLES;
    this.samples = new Float32Array(SAMPLES);
    this.source.connect(this.analyser);
  }

  /** Return the level from 0 (silence) to 1. */
  level() {
    this.analyser.getFloatTimeDomainData(this.samples);
    const power = this.samples.reduce((sum, each) => sum + each * each, 0) / SAMPLES;
    if (power === 0) return 0;
    return Math.min(1, Math.max(0, 1 - (10 * Math.log10(power)) / FLOOR_DB));
  }

  close() {
    this.source.disconnect();
  }
}
