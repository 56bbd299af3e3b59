// `npm run migrate-events -- --to esdb://… | --from esdb://…`: moves the event log between PostgreSQL and EventStoreDB.
import './compileCache.ts';

const { runMigrateEvents } = await import('../logMigration/migrateEvents.ts');
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());

process.exit(await runMigrateEvents(process.argv.slice(2), process.env, process.stdout, process.stderr, stop.signal));
