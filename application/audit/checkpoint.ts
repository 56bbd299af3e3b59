// The text of a checkpoint (c2sp.org/tlog-checkpoint): the log's origin, the size of the tree, and its root.
import { HASH_BYTES, type TreeHead } from './merkleTree.ts';

export interface Checkpoint extends TreeHead {
  readonly origin: string;
}

export const checkpointText = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString('base64')}\n`;

/** Returns the checkpoint of a note's text, or null if it isn't one. Ignores extension lines. */
export const readCheckpoint = (text: string): Checkpoint | null => {
  const [origin, size, root, ...rest] = text.split('\n');
  if (!origin || rest.pop() !== '' || rest.includes('')) return null;
  if (size === undefined || !/^(0|[1-9]\d{0,15})$/.test(size) || !Number.isSafeInteger(Number(size))) return null;
  const bytes = Buffer.from(root ?? '', 'base64');
  if (bytes.length !== HASH_BYTES || bytes.toString('base64') !== root) return null;
  return { origin, size: Number(size), root: bytes };
};
