// Errors that are reported in one line, and their exit codes (rules S1, S4).
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { EventStoreUnavailable, LogNotInUse, UnknownPosition } from '../../../application/ports/eventStore.ts';
import { UsageError } from '../../../infrastructure/cli/command.ts';
import { outcomeOf } from '../../../infrastructure/cli/explain.ts';
import { ConfigError } from '../../../infrastructure/config/config.ts';
import { EmbeddedPostgresError } from '../../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { ForeignLog } from '../../../infrastructure/eventStore/readableLog.ts';
import { OtherJobsSchema } from '../../../infrastructure/jobs/schema.ts';
import { DatabaseUnreachable } from '../../../infrastructure/postgres/database.ts';
import { ForeignSchema, MigrationHeldUp, OlderSchema } from '../../../infrastructure/postgres/migrate.ts';
import { CheckpointMismatch } from '../../../projections/engine/checkpoints.ts';

const ofDatabase = (code: string) => Object.assign(new Error('no\n  more'), { code, severity: 'ERROR' });

describe('an error that stops a program', () => {
  for (const kind of [
    CheckpointMismatch,
    ConfigError,
    DatabaseUnreachable,
    ForeignLog,
    LogNotInUse,
    ForeignSchema,
    MigrationHeldUp,
    OlderSchema,
    UnknownPosition,
    UsageError,
  ])
    it(`${kind.name} prints one line and exits with code 2`, () => {
      const error = new kind('what is wrong\n  and what to do');
      expect(outcomeOf(error, {})).to.deep.equal({ says: 'what is wrong and what to do', code: 2 });
    });
  it('OtherJobsSchema and EmbeddedPostgresError print one line and exit with code 2', () => {
    for (const error of [new OtherJobsSchema(99), new EmbeddedPostgresError('in_use' as never, 'one line')])
      expect(outcomeOf(error, {})).to.deep.equal({ says: error.message, code: 2 });
  });
  it('exits with code 2 if the event store is unreachable', () =>
    expect(outcomeOf(new EventStoreUnavailable('no answer'), {})).to.deep.equal({
      says: "the event store can't be reached: no answer",
      code: 2,
    }));
  it('exits with code 2 if the database reports a connection, server or permission error', () => {
    for (const code of ['08006', '28P01', '3D000', '53300', '57P03', '25006', '42501'])
      expect(outcomeOf(ofDatabase(code), {})).to.deep.equal({
        says: `the database reports an error: no more (${code})`,
        code: 2,
      });
  });
  it('exits with code 2 if a file can’t be used', async () => {
    const error = await readFile('/nowhere/at all').catch((thrown: unknown) => thrown);
    expect(outcomeOf(error, {})).to.deep.equal({
      says: "a file can't be used: ENOENT: no such file or directory, open '/nowhere/at all'",
      code: 2,
    });
    expect(outcomeOf(Object.assign(new Error('no'), { code: 'ENOENT' }), {}).code, 'it names no file').to.equal(1);
  });
  const HINT = '; set LOG_LEVEL=debug to see the stack';
  it('prints one line with the source location and exits with code 1 if it is unexpected', () => {
    const withoutSeverity = Object.assign(new Error('no\n  more'), { code: '08006' });
    for (const [error, line] of [
      [new TypeError('oops'), 'TypeError: oops'],
      [ofDatabase('42P01'), 'Error: no more'],
      [ofDatabase('23505'), 'Error: no more'],
      [withoutSeverity, 'Error: no more'],
    ] as const) {
      const place = /at .*?(test\/infrastructure\/cli\/explain\.test\.ts):(\d+)/.exec(error.stack as string);
      expect(place?.[1]).to.equal('test/infrastructure/cli/explain.test.ts');
      for (const env of [{}, { LOG_LEVEL: 'info' }, { LOG_LEVEL: 'nonsense' }]) {
        const { says, code } = outcomeOf(error, env);
        expect(code).to.equal(1);
        expect(says.startsWith(`unexpected error: ${line} (in `), says).to.equal(true);
        expect(says.endsWith(`${place?.[1]}, line ${place?.[2]})${HINT}`), says).to.equal(true);
        expect(says).to.not.include('\n');
      }
    }
    expect(outcomeOf('thrown', {})).to.deep.equal({ says: 'unexpected error: thrown', code: 1 });
    const placeless = Object.assign(new Error('no'), { stack: 'Error: no\n    at node:internal/process:1:2' });
    expect(outcomeOf(placeless, {}).says).to.equal(`unexpected error: Error: no${HINT}`);
  });
  it('prints the stack below that line at log level debug or trace', () => {
    const error = new TypeError('oops');
    for (const level of ['debug', 'trace']) {
      const [line = '', ...stack] = outcomeOf(error, { LOG_LEVEL: level }).says.split('\n');
      expect(line).to.match(/^unexpected error: TypeError: oops \(in .*explain\.test\.ts, line \d+\)$/);
      expect(stack.join('\n')).to.equal(error.stack);
    }
  });
});
