// Arbitrary values for the fields of events.
import fc from 'fast-check';
import { encodeRawId } from '../../domain/kernel/ids.ts';
import { AMOUNT_MAX, toMinor } from '../../domain/kernel/money.ts';
import { fromMillis } from '../../domain/kernel/time.ts';
import { anyCharacter } from './anyCharacter.ts';

const YEAR_2100_MS = Date.parse('2100-01-01T00:00:00.000Z');

export const anyText = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: anyCharacter, maxLength: 20 }));
export const anyTime = fc.integer({ min: 0, max: YEAR_2100_MS }).map(fromMillis);
export const anyAmount = fc.integer({ min: 1, max: AMOUNT_MAX }).map(toMinor);
export const share = fc.integer({ min: 0, max: AMOUNT_MAX }).map(toMinor);
export const count = fc.nat({ max: 1_000_000 });
export const orNull = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });
export const rawId = <Id extends string>() =>
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => encodeRawId(bytes) as Id);
export const mode = fc.constantFrom('test' as const, 'live' as const);
export const optional = orNull(anyText);
