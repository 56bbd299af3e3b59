// The only entry of this folder; README.md describes its internals. The client package (87 ms of CPU) is loaded only when used: programs
// whose log is in PostgreSQL never load it.

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
