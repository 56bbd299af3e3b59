// A program that owns an embedded database, to be killed: node embeddedPostgresOwner.ts <data directory>
// Says one JSON object a line: {log}, {ready: {connectionString, adopted}}, {failed: {code, message}}, {signal}.
// SIGTERM is only reported, so that what a signal to the whole group does to the database can be seen.
import {
  type EmbeddedPostgresError,
  startEmbeddedPostgres,
} from '../../infrastructure/embeddedPostgres/embeddedPostgres.ts';

const say = (line: object): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

process.on('SIGTERM', () => say({ signal: 'SIGTERM' }));
try {
  const { connectionString, adopted } = await startEmbeddedPostgres({
    dataDir: process.argv[2]!,
    log: (log) => say({ log }),
  });
  say({ ready: { connectionString, adopted } });
  process.stdin.resume(); // lives until killed, or until the test goes
  process.stdin.on('end', () => process.exit(1));
} catch (error) {
  const { code, message } = error as EmbeddedPostgresError;
  say({ failed: { code, message } });
}
