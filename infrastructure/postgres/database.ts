// The database: the embedded one in DATA_DIR, or the one of DATABASE_URL.

import { type Config, ConfigError } from '../config/config.ts';
import { acquireInstanceLock, startEmbeddedPostgres } from '../embeddedPostgres/embeddedPostgres.ts';
import type { Log } from '../log/log.ts';
import { reachDatabase } from './reachDatabase.ts';

export interface Database {
  readonly connectionString: string;
  readonly isEmbedded: boolean;
  close(): Promise<void>;
}

export const openDatabase = async (config: Config, log: Log, onLost: (error: Error) => void): Promise<Database> => {
  if (config.databaseUrl !== null) {
    await reachDatabase(config.databaseUrl);
    return { connectionString: config.databaseUrl, isEmbedded: false, close: async () => undefined };
  }
  const postgres = await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) });
  const { connectionString } = postgres;
  const lock = await acquireInstanceLock(connectionString, {
    onLost: (reason) => onLost(new Error(`the embedded database is gone: ${reason.message}`)),
  });
  if (lock === null) {
    await postgres.stop();
    throw new ConfigError(`DATA_DIR ${config.dataDir} is in use by another program`);
  }
  return {
    connectionString,
    isEmbedded: true,
    close: async () => {
      await lock.release();
      await postgres.stop();
    },
  };
};
