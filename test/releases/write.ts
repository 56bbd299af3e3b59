// `npm run release:dump`, run once per release: writes test/fixtures/releases/<version>. All later releases must be able to read it.
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { AGGREGATES } from '../../domain/aggregates.ts';
import { LOG_CONSUMER } from '../../domain/logConsumer/logConsumer.ts';
import { dump } from '../../infrastructure/databaseCopy/dump.ts';
import { connectionConfig, PgPool } from '../../infrastructure/postgres/session.ts';
import { playStory } from '../http/openapi/scenario.ts';
import { startedDatabase } from '../world/gateway.ts';
import { ANSWERS, askAll, DUMP, DUMP_BYTES_MAX, EVENTS, eventVersions, type KeptAnswers, RELEASES } from './kept.ts';

const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
const folder = new URL(`${version}/`, RELEASES);
await stat(folder).then(
  () => {
    throw new Error(`${folder.pathname} exists: a release is dumped once`);
  },
  () => undefined,
);

const database = await startedDatabase();
let kept: KeptAnswers | null = null;
await playStory({
  database,
  ending: async (_, gateway) => {
    await gateway.untilProjected();
    const { testKey, liveKey } = gateway.tenant;
    const answers = { testKey: await askAll(gateway, testKey), liveKey: await askAll(gateway, liveKey) };
    kept = { keys: { testKey, liveKey }, answers };
  },
});
const db = new PgPool(connectionConfig(database.connectionString, 'quita dump'), 1, () => undefined);
const { rows } = await db.query<{ category: string }>(
  `SELECT DISTINCT split_part(stream, '-', 1) AS category FROM event_store.events`,
);
const told = rows.map(({ category }) => category);
// Its only events come from operators who skip unreadable events.
const missing = AGGREGATES.filter(({ category }) => category !== LOG_CONSUMER.category && !told.includes(category));
if (missing.length > 0) throw new Error(`the story has no events of ${missing.map(({ category }) => category)}`);

await mkdir(folder, { recursive: true });
const file = fileURLToPath(new URL(DUMP, folder));
const report = await dump(db, file);
await db.close();
await database.drop();
const { size } = await stat(file);
if (size > DUMP_BYTES_MAX) {
  await rm(folder, { recursive: true });
  throw new Error(`the dump has ${size} bytes; at most ${DUMP_BYTES_MAX} are allowed`);
}
await writeFile(new URL(ANSWERS, folder), `${JSON.stringify(kept, null, 1)}\n`);
await writeFile(new URL(EVENTS, folder), `${JSON.stringify(eventVersions(), null, 1)}\n`);
process.stdout.write(`${version}: ${report.rows} rows of ${report.tables} tables, ${size} bytes\n`);
process.exit(0);
