// Kills the program and the operator’s command at each step of an erasure. The erasure is completed afterwards, a repetition changes
// nothing, and no file has a trace of the person (ADR 0018).
import { expect } from 'chai';
import { ScrubbedProgram, until } from '../support/scrubbedProgram.ts';

const PAYMENT = 'the event of the payment';
const PAYOUT = 'the event of the payout';
/**
 * The first write of each step, which is paused. Names are ASCII, because PostgreSQL requires it of application names. `when` distinguishes
 * the write from others to the same table.
 */
const STEPS: { readonly [step: string]: { readonly write: string; readonly when: string } } = {
  [PAYMENT]: eventOf('PaymentPersonalDataErased'),
  [PAYOUT]: eventOf('PayoutPersonalDataErased'),
  'the job of the other steps': { write: 'INSERT ON operations.owed', when: "NEW.queue = 'completeErasure'" },
  'the event of a refund': eventOf('RefundPersonalDataErased'),
  'the event of a dispute case': eventOf('MedCasePersonalDataErased'),
  'the event of a failed delivery': eventOf('WebhookDeliveryPersonalDataErased'),
  'rows, after files and mail': { write: 'UPDATE ON sandbox_bank.payments', when: 'NEW.payer_name IS NULL' },
  'the key': { write: 'UPDATE ON privacy.data_keys', when: 'NEW.destroyed_at IS NOT NULL' },
  'the end of the job': { write: 'DELETE ON operations.owed', when: "OLD.queue = 'completeErasure'" },
};
function eventOf(type: string) {
  return { write: 'INSERT ON event_store.events', when: `NEW.type = '${type}'` };
}

/** Pauses a writer while its step is listed in the table. The application name shows who is paused where. */
const STOPS = `CREATE SCHEMA stops;
  CREATE TABLE stops.ahead (step text PRIMARY KEY);
  CREATE FUNCTION stops.stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF EXISTS (SELECT FROM stops.ahead WHERE step = TG_ARGV[0]) THEN
      PERFORM set_config('application_name', TG_ARGV[0], false);
      PERFORM pg_sleep(600);
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END $$;
  ${Object.entries(STEPS)
    .map(
      ([step, { write, when }], n) => `INSERT INTO stops.ahead VALUES ('${step}');
        CREATE TRIGGER stop_${n} BEFORE ${write} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION stops.stop('${step}');`,
    )
    .join('\n')}`;
/** Removes and returns the steps at which a writer is paused. */
const REACHED = `DELETE FROM stops.ahead WHERE step IN (SELECT application_name FROM pg_stat_activity WHERE wait_event = 'PgSleep')
  RETURNING step`;

describe('kill -9 at each step of an erasure', function suite() {
  this.timeout(900_000);
  let program: ScrubbedProgram;
  before(async () => {
    program = await ScrubbedProgram.open();
  });
  after(() => program.close());

  const killAtEachStep = async (): Promise<void> => {
    expect(await program.query(STOPS)).to.not.equal(null);
    const ahead = new Set(Object.keys(STEPS));
    while (ahead.size > 0) {
      const command = new AbortController();
      let erasing: Promise<unknown> | null = null;
      await until(async () => {
        // The operator repeats the command until all events are recorded.
        if ([PAYMENT, PAYOUT].some((step) => ahead.has(step)))
          erasing ??= program
            .erase(command.signal)
            .catch(() => null)
            .finally(() => (erasing = null));
        const reached = (await program.query<{ step: string }>(REACHED)) ?? [];
        for (const { step } of reached) ahead.delete(step);
        return reached.length > 0;
      });
      command.abort();
      await erasing;
      await program.killAndRestart();
    }
    await program.ready();
  };

  it('doesn’t prevent its completion, leaves no trace of the person and changes no money', () =>
    program.expectScrubbedAfter(killAtEachStep));

  it('leaves nothing for a repetition to erase', async () => {
    const words = ['--payment', program.desk.chargeId, '--reason', 'request 17'];
    const { erased } = (await program.cli(['privacy', 'erase', ...words])) as { erased: { outcome: string }[] };
    expect(erased.map(({ outcome }) => outcome)).to.deep.equal(['erased_before']);
  });
});
