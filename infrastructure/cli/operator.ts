// Who types: the user of the operating system.
import { userInfo } from 'node:os';

/** `operator:<user>`; a user without a name (a container's) is its number. */
export const operatorOf = (): string => {
  try {
    return `operator:${userInfo().username}`;
  } catch {
    return `operator:${process.getuid?.() ?? 'unknown'}`;
  }
};
