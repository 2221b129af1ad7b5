// Web Crypto: a global of every runtime but Node.js 18, which has it in a module.

const MODULE: string = "node:crypto"; // not a literal: bundlers would look it up for browsers

export async function webCrypto(): Promise<Crypto> {
  const found = (globalThis as { crypto?: Crypto }).crypto;
  return found ?? ((await import(MODULE)) as { webcrypto: Crypto }).webcrypto;
}
