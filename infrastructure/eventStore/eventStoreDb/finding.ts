// What every look at EventStoreDB has at hand, and how it says what it saw.
import type { Diagnosis } from '../diagnosis.ts';
import type { Connection } from './connection.ts';
import type { ConnectionSettings } from './connectionString.ts';
import type { Reader } from './reader.ts';

export interface World {
  readonly settings: ConnectionSettings;
  readonly connection: Connection;
  readonly reader: Reader;
}
export type Check = (world: World) => Promise<Diagnosis>;

export const good = (check: string, says: string): Diagnosis => ({ check, isGood: true, says });
export const bad = (check: string, says: string): Diagnosis => ({ check, isGood: false, says });

/** The status of the call that failed first; undefined when it was no call. */
export const statusOf = (error: unknown): number | undefined => {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'number') return code;
  }
  return undefined;
};
