// Reaching the embedded database of a running program from another one on the same machine: the command line tools.
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EmbeddedPostgresError } from './error.ts';
import { openDataDir } from './layout.ts';
import { findOccupant } from './postmaster.ts';
import { ping } from './server.ts';
import { connectionStringOf, loadSettings } from './settings.ts';
import { isSafe } from './socketDir.ts';

const notRunning = (dataDir: string, cause?: unknown): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    'cannot_start',
    `no program is running on ${dataDir}: start it with npm start, or set DATA_DIR or DATABASE_URL`,
    cause,
  );

/** Starts nothing and changes nothing. Throws EmbeddedPostgresError when nothing runs there. */
export const attachToEmbeddedPostgres = async (dataDir: string): Promise<string> => {
  const path = resolve(dataDir);
  await stat(`${path}/postgres.json`).catch((error: unknown) => {
    throw notRunning(path, error);
  });
  const layout = await openDataDir(path);
  const settings = await loadSettings(layout);
  const occupant = await findOccupant(layout.clusterDir);
  if (occupant.kind !== 'live' || !(await isSafe(layout, occupant.socketDir))) throw notRunning(path);
  const connectionString = connectionStringOf(settings, occupant.socketDir);
  await ping(connectionString).catch((error: unknown) => {
    throw notRunning(path, error);
  });
  return connectionString;
};
