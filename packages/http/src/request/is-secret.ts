import { timingSafeEqual } from 'node:crypto';

/** Whether a text is a secret. The time of the comparison depends on their lengths only. */
export function isSecret(given: string, secret: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(secret)];
  return one.length === other.length && timingSafeEqual(one, other);
}
