// Faults that one line explains, and their exit codes (rules S1, S4).
import { expect } from 'chai';
import { EventStoreUnavailable, LogNotInUse, UnknownPosition } from '../../../application/ports/eventStore.ts';
import { ConfigError } from '../../../infrastructure/boot/config.ts';
import { outcomeOf } from '../../../infrastructure/boot/explain.ts';
import { UsageError } from '../../../infrastructure/cli/command.ts';
import { EmbeddedPostgresError } from '../../../infrastructure/embeddedPostgres/embeddedPostgres.ts';
import { ForeignLog } from '../../../infrastructure/eventStore/readableLog.ts';
import { OtherJobsSchema } from '../../../infrastructure/jobs/schema.ts';
import { ForeignSchema, OlderSchema } from '../../../infrastructure/postgres/migrate.ts';
import { DatabaseUnreachable } from '../../../infrastructure/postgres/reachDatabase.ts';
import { CheckpointMismatch } from '../../../projections/engine/checkpoints.ts';

const ofDatabase = (code: string) => Object.assign(new Error('no\n  more'), { code, severity: 'ERROR' });

describe('a fault that stops a program', () => {
  for (const kind of [
    CheckpointMismatch,
    ConfigError,
    DatabaseUnreachable,
    ForeignLog,
    LogNotInUse,
    ForeignSchema,
    OlderSchema,
    UnknownPosition,
    UsageError,
  ])
    it(`${kind.name} is one line and exit code 2`, () => {
      const error = new kind('what is wrong\n  and what to do');
      expect(outcomeOf(error)).to.deep.equal({ says: 'what is wrong and what to do', code: 2 });
    });
  it('OtherJobsSchema and EmbeddedPostgresError are one line and exit code 2', () => {
    for (const error of [new OtherJobsSchema(99), new EmbeddedPostgresError('in_use' as never, 'one line')])
      expect(outcomeOf(error)).to.deep.equal({ says: error.message, code: 2 });
  });
  it('is exit code 2 when the event store can’t be reached', () =>
    expect(outcomeOf(new EventStoreUnavailable('no answer'))).to.deep.equal({
      says: "the event store can't be reached: no answer",
      code: 2,
    }));
  it('is exit code 2 when the database says it of itself or of our rights', () => {
    for (const code of ['08006', '28P01', '3D000', '53300', '57P03', '25006', '42501'])
      expect(outcomeOf(ofDatabase(code))).to.deep.equal({ says: `the database refuses: no more (${code})`, code: 2 });
  });
  it('is exit code 1 with its stack when nobody expected it', () => {
    for (const error of [new TypeError('oops'), ofDatabase('42P01'), ofDatabase('23505')])
      expect(outcomeOf(error)).to.deep.equal({ says: error.stack, code: 1 });
    const withoutSeverity = Object.assign(new Error('no'), { code: '08006' });
    expect(outcomeOf(withoutSeverity)).to.deep.equal({ says: withoutSeverity.stack, code: 1 });
    expect(outcomeOf('thrown')).to.deep.equal({ says: 'thrown', code: 1 });
  });
});
