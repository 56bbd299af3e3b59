// A program that owns an embedded database, for tests that kill it: node embeddedPostgresOwner.ts <data directory>
// Prints one JSON object per line: {log}, {ready: {connectionString, adopted}}, {failed: {code, message}}, {signal}.
// It only reports SIGTERM, so that tests can observe the effect of a signal to the whole group on the database.
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
  process.stdin.resume(); // keeps the process alive until it is killed or the test ends
  process.stdin.on('end', () => process.exit(1));
} catch (error) {
  const { code, message } = error as EmbeddedPostgresError;
  say({ failed: { code, message } });
}
