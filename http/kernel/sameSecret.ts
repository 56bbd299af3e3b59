import { timingSafeEqual } from 'node:crypto';

/** Returns whether two secrets are equal. The time taken reveals only whether their lengths match. */
export const isSameSecret = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};
