// Building blocks for the schemas of job payloads.
import Type, { type TProperties, type TUnsafe } from 'typebox';
import type { StreamName } from '../../domain/kernel/event.ts';
import type { Mode, RawId } from '../../domain/kernel/ids.ts';
import type { Timestamp } from '../../domain/kernel/time.ts';

/** Returns the schema of an object with these properties and no others. */
export const payloadOf = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

export const idOf = <Id extends RawId>(): TUnsafe<Id> => Type.Unsafe<Id>(Type.String({ minLength: 1 }));
export const stream = Type.Unsafe<StreamName>(Type.String({ minLength: 1 }));
export const text = Type.String({ minLength: 1 });
export const mode = Type.Unsafe<Mode>(Type.String({ enum: ['test', 'live'] }));
export const instant = Type.Unsafe<Timestamp>(
  Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
);
