// The entry of this folder, and all that the rest of the program knows of it. README.md says how it works inside.
// The client package is loaded by those who use it, 87 ms of CPU: programs whose log is kept in Postgres never do.

export type { Diagnosis } from './diagnose.ts';
export { BadConnectionString, type ConnectionSettings, readConnectionString } from './settings.ts';

export const openEventStoreDb = async (...given: Parameters<typeof import('./store.ts').openEventStoreDb>) =>
  (await import('./store.ts')).openEventStoreDb(...given);

export const openMigratableEventStoreDbLog = async (
  ...given: Parameters<typeof import('./migratableLog.ts').openMigratableEventStoreDbLog>
) => (await import('./migratableLog.ts')).openMigratableEventStoreDbLog(...given);

export const diagnoseEventStoreDb = async (...given: Parameters<typeof import('./diagnose.ts').diagnoseEventStoreDb>) =>
  (await import('./diagnose.ts')).diagnoseEventStoreDb(...given);

export const makeOwnUser = async (...given: Parameters<typeof import('./ownUser.ts').makeOwnUser>) =>
  (await import('./ownUser.ts')).makeOwnUser(...given);
