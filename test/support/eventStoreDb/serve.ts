// Runs the test server in its own process, for whole-system tests. It prints its connection string, and ends on SIGTERM or with its
// parent. Its argument has the options as JSON.
import { type EventStoreDbOptions, EventStoreDbServer } from './server.ts';

const server = await EventStoreDbServer.start(JSON.parse(process.argv[2] ?? '{}') as EventStoreDbOptions);
process.stdout.write(`${server.connectionString}\n`);
const end = (): void => void server.stop().then(() => process.exit(0));
process.once('SIGTERM', end);
process.stdin.once('end', end).resume();
