// The configuration of the embedded server. On the command line, so that a newer program brings its own with the next
// start, and no file in the data directory has to be migrated.
import { SOCKET_NUMBER } from './socketDir.ts';

const CONFIGURATION: Readonly<Record<string, string>> = {
  // Only the socket in its closed folder: whoever can't enter that can't even ask.
  listen_addresses: '',
  unix_socket_permissions: '0700',

  // Facts that were acknowledged survive a power cut. These are the defaults; said aloud because money depends on them.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',

  // Hot part of a gateway's tables; the rest is the file cache's. Small enough beside Node on a machine of 1 GB.
  shared_buffers: '256MB',
  // 20 a process for a few processes, plus the sessions of an operator.
  max_connections: '60',
  // Nobody can log in as superuser (initdb.ts): a place kept for one would be lost.
  superuser_reserved_connections: '0',
  // Every commit carries full pages after a checkpoint: rare checkpoints and compression halve what is written.
  // 2 GB is also the bound of what a crash recovery has to read again (seconds).
  wal_compression: 'on',
  checkpoint_timeout: '15min',
  max_wal_size: '2GB',
  // Queries are short and prepared; compiling one costs more than it ever saves.
  jit: 'off',
  // Two cores are shared with Node; a list query that takes both would be felt by every payment.
  max_parallel_workers_per_gather: '0',
  // Solid-state disks: an index scan costs what it reads.
  random_page_cost: '1.1',

  // Queue tables, leases and timers turn over all the time: visit them often, after 5 % instead of 20 % has changed.
  autovacuum_naptime: '15s',
  autovacuum_vacuum_scale_factor: '0.05',
  autovacuum_analyze_scale_factor: '0.05',

  // Sessions of a killed program end within a second, even in the middle of a long statement.
  client_connection_check_interval: '1s',

  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  // Details quote rows, and rows hold personal data. The client gets the whole error all the same.
  log_error_verbosity: 'terse',
  // A recovery says every ten seconds how far it is: the start waits as long as it hears that.
  log_startup_progress_interval: '10s',
};

/** In a list that is parted at commas. */
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** `instead`: settings that replace those above. */
export const serverArguments = (
  clusterDir: string,
  socketDir: string,
  instead: Readonly<Record<string, string>>,
): string[] => [
  '-D',
  clusterDir,
  '-p',
  String(SOCKET_NUMBER),
  ...Object.entries({ ...CONFIGURATION, ...instead, unix_socket_directories: quoted(socketDir) }).flatMap(
    ([name, value]) => ['-c', `${name}=${value}`],
  ),
];
