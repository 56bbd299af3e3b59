// The test server as a process of its own, for whole-system tests: prints its connection string, ends with SIGTERM.
import { EventStoreDbServer } from './server.ts';

const server = await EventStoreDbServer.start();
process.stdout.write(`${server.connectionString}\n`);
process.once('SIGTERM', () => {
  void server.stop().then(() => process.exit(0));
});
