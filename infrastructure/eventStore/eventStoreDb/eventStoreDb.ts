// The entry of this folder, and all that the rest of the program knows of it. README.md says how it works inside.

export { type Diagnosis, diagnoseEventStoreDb } from './diagnose.ts';
export { openMigratableEventStoreDbLog } from './migratableLog.ts';
export { makeOwnUser } from './ownUser.ts';
export { BadConnectionString, type ConnectionSettings, readConnectionString } from './settings.ts';
export { openEventStoreDb } from './store.ts';
