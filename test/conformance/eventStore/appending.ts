// append: expected revisions, repetitions, limits, concurrent appends.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { EventStore, NewEvent } from '../../../application/ports/eventStore.ts';
import type { StreamName } from '../../../domain/kernel/ids.ts';
import { brief, collect, failureOf, idsOf, newEvent, newEvents, newStream } from './harness.ts';

const ISO_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export const appending = (store: () => EventStore): void => {
  const append = async (stream: StreamName, expected: number, events: readonly NewEvent[]): Promise<object> =>
    brief(await store().append(stream, expected, events));
  const idsIn = async (stream: StreamName): Promise<string[]> => idsOf(await collect(store().readStream(stream)));

  describe('append', () => {
    it('to an empty stream starts at revision 0 and stores the events unchanged', async () => {
      const stream = newStream();
      const events = [newEvent({ type: 'First' }), newEvent({ type: 'Second', data: '{"n":2}' })];
      const result = await store().append(stream, -1, events);
      const recorded = await collect(store().readStream(stream));
      expect(brief(result)).to.deep.equal({ ok: true, revision: 1 });
      expect(recorded.map(({ position: _, recordedAt: __, ...rest }) => rest)).to.deep.equal([
        { ...events[0], stream, revision: 0 },
        { ...events[1], stream, revision: 1 },
      ]);
      expect(result.ok && (result.position === null || result.position === recorded[1]!.position)).to.equal(true);
      expect(recorded[0]!.position < recorded[1]!.position).to.equal(true);
      for (const { recordedAt } of recorded) expect(recordedAt).to.match(ISO_MS);
    });

    it('at the head continues the numbering', async () => {
      const stream = newStream();
      expect(await append(stream, -1, newEvents(3))).to.deep.equal({ ok: true, revision: 2 });
      expect(await append(stream, 2, newEvents(1))).to.deep.equal({ ok: true, revision: 3 });
      expect(await append(stream, 3, newEvents(2))).to.deep.equal({ ok: true, revision: 5 });
    });

    it('above the head writes nothing and returns the actual head', async () => {
      const stream = newStream();
      expect(await append(stream, 0, newEvents(1))).to.deep.equal({ ok: false, actual: -1 });
      const events = newEvents(2);
      await append(stream, -1, events);
      expect(await append(stream, 2, newEvents(1))).to.deep.equal({ ok: false, actual: 1 });
      expect(await append(stream, 2, events)).to.deep.equal({ ok: false, actual: 1 });
      expect(await idsIn(stream)).to.deep.equal(idsOf(events));
    });

    it('below the head with other ids writes nothing and returns the actual head', async () => {
      const stream = newStream();
      const events = newEvents(3);
      await append(stream, -1, events);
      expect(await append(stream, -1, newEvents(3))).to.deep.equal({ ok: false, actual: 2 });
      expect(await append(stream, 1, newEvents(1))).to.deep.equal({ ok: false, actual: 2 });
      expect(await idsIn(stream)).to.deep.equal(idsOf(events));
    });

    it('is idempotent and returns the original revision, even if the stream has grown since', async () => {
      const stream = newStream();
      const first = newEvents(2);
      const second = newEvents(1);
      await append(stream, -1, first);
      expect(await append(stream, -1, first)).to.deep.equal({ ok: true, revision: 1 });
      await append(stream, 1, second);
      expect(await append(stream, -1, first)).to.deep.equal({ ok: true, revision: 1 });
      expect(await append(stream, -1, first)).to.deep.equal({ ok: true, revision: 1 });
      expect(await append(stream, 1, second)).to.deep.equal({ ok: true, revision: 2 });
      expect(await idsIn(stream)).to.deep.equal(idsOf([...first, ...second]));
    });

    it('with the same ids but other content changes nothing', async () => {
      const stream = newStream();
      const event = newEvent({ data: '{"amount":1}' });
      await append(stream, -1, [event]);
      expect(await append(stream, -1, [{ ...event, data: '{"amount":2}' }])).to.deep.equal({ ok: true, revision: 0 });
      const recorded = await collect(store().readStream(stream));
      expect(recorded.map(({ data }) => data)).to.deep.equal(['{"amount":1}']);
    });

    it('counts as a repetition only if every id matches at its position', async () => {
      const stream = newStream();
      const [a, b, c] = newEvents(3) as [NewEvent, NewEvent, NewEvent];
      await append(stream, -1, [a, b]);
      expect(await append(stream, -1, [a]), 'a prefix').to.deep.equal({ ok: true, revision: 0 });
      expect(await append(stream, 0, [b]), 'the rest').to.deep.equal({ ok: true, revision: 1 });
      for (const [name, expected, events] of [
        ['longer than what stands there', -1, [a, b, c]],
        ['the second differs', -1, [a, c]],
        ['the first differs', -1, [c, b]],
        ['another order', -1, [b, a]],
        ['one place too early', -1, [b]],
        ['one place too late', 0, [a]],
      ] as const) {
        expect(await append(stream, expected, events), name).to.deep.equal({ ok: false, actual: 1 });
      }
      expect(await append(stream, 1, [c]), 'new at the head').to.deep.equal({ ok: true, revision: 2 });
      expect(await idsIn(stream)).to.deep.equal(idsOf([a, b, c]));
    });

    it('of the same ids to another stream is a separate append', async () => {
      const events = newEvents(2);
      const [one, other] = [newStream(), newStream()];
      expect(await append(one, -1, events)).to.deep.equal({ ok: true, revision: 1 });
      expect(await append(other, -1, events)).to.deep.equal({ ok: true, revision: 1 });
      expect(await idsIn(other)).to.deep.equal(idsOf(events));
    });

    it('from many concurrent callers with one expected revision succeeds exactly once', async () => {
      const stream = newStream();
      const rivals = newEvents(40);
      const results = await Promise.all(rivals.map((event) => append(stream, -1, [event])));
      const [winner] = await idsIn(stream);
      const answers = rivals.map(({ id }) => (id === winner ? { ok: true, revision: 0 } : { ok: false, actual: 0 }));
      expect(results).to.deep.equal(answers);
      expect(await idsIn(stream)).to.have.length(1);
    });

    it('of the same events twice at the same time writes once and succeeds for both callers', async () => {
      const stream = newStream();
      const events = newEvents(2);
      const results = await Promise.all([append(stream, -1, events), append(stream, -1, events)]);
      expect(results).to.deep.equal([
        { ok: true, revision: 1 },
        { ok: true, revision: 1 },
      ]);
      expect(await idsIn(stream)).to.deep.equal(idsOf(events));
    });

    it('preserves any JSON and any valid name', async () => {
      const hostile = [
        'emoji 👩‍👩‍👧‍👦 é ação',
        'nul \u0000 and bell \u0007',
        `quotes ' " ''' """ \` and \\ \\\\ \\u0000 \\n`,
        'lines \u2028 \u2029 \r\n\t',
        'lone \ud83d and \udc69 surrogates',
        '{1,2,NULL,"x"} $1 %s ?? :name -- ; DROP TABLE events',
        '',
        '\ufeff\ufffe\uffff\u{10ffff}',
      ];
      const events = hostile.map((text) =>
        newEvent({ data: JSON.stringify({ [`key ${text}`]: text }), metadata: JSON.stringify({ text }) }),
      );
      events.push(newEvent({ type: `Ação 👍 "quoted" {a,b} \\ '` }));
      const stream = `payment-${randomUUID()} 👍 "{,}\\'` as StreamName;
      await append(stream, -1, events);
      const recorded = await collect(store().readStream(stream));
      expect(recorded.map(({ id, type }) => ({ id, type }))).to.deep.equal(
        events.map(({ id, type }) => ({ id, type })),
      );
      expect(recorded.map(({ data }) => JSON.parse(data))).to.deep.equal(events.map(({ data }) => JSON.parse(data)));
      expect(recorded.map(({ metadata }) => JSON.parse(metadata))).to.deep.equal(
        events.map(({ metadata }) => JSON.parse(metadata)),
      );
      expect(recorded.every((event) => event.stream === stream)).to.equal(true);
    });

    it('rejects invalid events and writes nothing', async () => {
      const good = newEvent();
      const twin = newEvent();
      const bad: readonly (readonly [string, readonly NewEvent[]])[] = [
        ['no events', []],
        ['empty type', [newEvent({ type: '' })]],
        ['type of 101 characters', [newEvent({ type: 'x'.repeat(101) })]],
        ['reserved type', [newEvent({ type: '$deleted' })]],
        ['NUL in the type', [newEvent({ type: 'a\u0000b' })]],
        ['lone surrogate in the type', [newEvent({ type: 'a\ud800' })]],
        ['no uuid', [newEvent({ id: 'not-a-uuid' })]],
        ['uuid and more', [newEvent({ id: `${randomUUID()}0` })]],
        ['an id twice', [twin, good, twin]],
        ['an id twice in another case', [twin, { ...good, id: twin.id.toUpperCase() }]],
        ['data is empty', [newEvent({ data: '' })]],
        ['data is no JSON', [newEvent({ data: 'hello' })]],
        ['metadata is no object', [newEvent({ metadata: '[]' })]],
        ['raw NUL in data', [newEvent({ data: '{"a":"\u0000"}' })]],
        ['raw lone surrogate in data', [newEvent({ data: '{"a":"\udfff"}' })]],
        ['raw lone surrogate in metadata', [newEvent({ metadata: '{"a":"\ud83d"}' })]],
        ['a good event before a bad one', [good, newEvent({ type: '' })]],
      ];
      const stream = newStream();
      for (const [name, events] of bad) {
        expect(await failureOf(() => store().append(stream, -1, events)), name).to.equal('InvalidAppend');
        expect(await failureOf(() => store().append(stream, -1, events)), `${name}, twice`).to.equal('InvalidAppend');
      }
      expect(await idsIn(stream)).to.deep.equal([]);
    });

    it('rejects invalid stream names and revisions', async () => {
      const raw = randomUUID();
      const names = ['', raw.replaceAll('-', ''), `$payment-${raw}`, `payment-`, `-${raw}`, `pay ment-${raw}`];
      names.push(`payment-\u0000${raw}`, `payment-\ud800${raw}`, `payment-${'x'.repeat(300)}`);
      for (const name of names) {
        const outcome = await failureOf(() => store().append(name as StreamName, -1, [newEvent()]));
        expect(outcome, JSON.stringify(name)).to.equal('InvalidAppend');
      }
      for (const expected of [-2, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        const outcome = await failureOf(() => store().append(newStream(), expected, [newEvent()]));
        expect(outcome, String(expected)).to.equal('InvalidAppend');
      }
    });

    it('accepts types of 100 characters, events of 500,000 bytes and appends of 1,000,000, and nothing larger', async () => {
      const metadata = '{}';
      const sized = (bytes: number, letter = 'x'): NewEvent => {
        const letters = (bytes - '{"a":""}'.length - metadata.length) / Buffer.byteLength(letter);
        return newEvent({ data: `{"a":"${letter.repeat(letters)}"}`, metadata });
      };
      const stream = newStream();
      const full = [sized(500_000), sized(500_000, 'é')];
      expect(await append(stream, -1, full)).to.deep.equal({ ok: true, revision: 1 });
      expect(await append(stream, 1, [newEvent({ type: 'x'.repeat(100) })])).to.deep.equal({ ok: true, revision: 2 });
      const tooMuch: NewEvent[][] = [[sized(500_001)], [sized(500_002, 'é')], [...full, sized(11)]];
      for (const events of tooMuch) {
        expect(await failureOf(() => store().append(stream, 2, events))).to.equal('InvalidAppend');
      }
      expect(await idsIn(stream)).to.have.length(3);
      const [first] = await collect(store().readStream(stream));
      expect(first!.data).to.equal(full[0]!.data);
    });

    it('of an invalid event fails without affecting 50 concurrent valid ones', async () => {
      const bad = newEvent({ data: '{"a":"\ud800"}' });
      const jobs = Array.from({ length: 51 }, (_, n) => ({ stream: newStream(), event: n === 25 ? bad : newEvent() }));
      const outcomes = await Promise.all(
        jobs.map(({ stream, event }) => append(stream, -1, [event]).catch(({ name }: Error) => name)),
      );
      expect(outcomes).to.deep.equal(
        jobs.map(({ event }) => (event === bad ? 'InvalidAppend' : { ok: true, revision: 0 })),
      );
      const stored = await Promise.all(jobs.map(({ stream }) => idsIn(stream)));
      expect(stored).to.deep.equal(jobs.map(({ event }) => (event === bad ? [] : [event.id])));
    });

    it('that conflicts or repeats doesn’t affect 50 concurrent ones', async () => {
      const [taken, repeated] = [newStream(), newStream()];
      const original = newEvent();
      await append(taken, -1, newEvents(2));
      await append(repeated, -1, [original]);
      const good = Array.from({ length: 50 }, () => ({ stream: newStream(), events: newEvents(2) }));
      const outcomes = await Promise.all([
        ...good.slice(0, 25).map(({ stream, events }) => append(stream, -1, events)),
        append(taken, -1, newEvents(2)),
        append(repeated, -1, [original]),
        ...good.slice(25).map(({ stream, events }) => append(stream, -1, events)),
      ]);
      const fine = { ok: true, revision: 1 };
      expect(outcomes).to.deep.equal([
        ...Array(25).fill(fine),
        { ok: false, actual: 1 },
        { ok: true, revision: 0 },
        ...Array(25).fill(fine),
      ]);
      const stored = await Promise.all(good.map(({ stream }) => idsIn(stream)));
      expect(stored).to.deep.equal(good.map(({ events }) => idsOf(events)));
    });

    it('matches a simple model for any sequence of appends', async () => {
      const step = fc.record({
        expected: fc.integer({ min: -1, max: 6 }),
        picks: fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
      });
      const law = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const stream = newStream();
        const pool = newEvents(6);
        const model: string[] = [];
        for (const { expected, picks } of steps) {
          const events = picks.map((pick) => pool[pick]!);
          const ids = idsOf(events);
          const head = model.length - 1;
          const isRepeat = ids.every((id, n) => model[expected + 1 + n] === id);
          if (expected === head) model.push(...ids);
          const ok = expected === head || (expected < head && isRepeat);
          const answer = ok ? { ok, revision: expected + ids.length } : { ok, actual: head };
          expect(await append(stream, expected, events)).to.deep.equal(answer);
        }
        expect(await idsIn(stream)).to.deep.equal(model);
      });
      await fc.assert(law, { numRuns: 40 });
    });
  });
};
