import { bytes, milli } from '../placement/quantity.ts';

/** CPU as Kubernetes takes it, no finer than a thousandth; as it was written where that will do. Undefined for none. */
export const cpuAmount = (quantity: string): string | undefined => {
  const amount = milli(quantity);
  if (amount === 0) return undefined;
  return /^\d+m?$/.test(quantity) ? quantity : `${amount}m`;
};

/** Memory, or the size of a volume, as Kubernetes takes it: in whole bytes. Undefined for none. */
export const byteAmount = (quantity: string): string | undefined => {
  const amount = bytes(quantity);
  if (amount === 0) return undefined;
  return /^\d+(?:[KMGTPE]i|[kMGTPE])?$/.test(quantity) ? quantity : String(amount);
};
