// Messages for bodies that violate their schema: sentences for people, not a validator’s jargon.
import { expect } from 'chai';
import { isRejection } from '../../../domain/kernel/rejection.ts';
import type { JsonSchema } from '../../../http/kernel/jsonSchema.ts';
import { bodyValidator } from '../../../http/kernel/validation.ts';

const CONTEXT = {} as Parameters<ReturnType<typeof bodyValidator>>[2];

describe('messages for bodies that violate their schema', () => {
  const told = (schema: JsonSchema, value: unknown): string => {
    const rule = { properties: { it: schema }, type: 'object', required: ['it'] } as const;
    const validate = bodyValidator({ kind: 'json', schema: rule, ignores: [], codes: {}, missing: {} } as never);
    const answer = validate(value === undefined ? {} : { it: value }, false, CONTEXT);
    if (!isRejection(answer)) throw new Error('it was taken');
    return answer.message;
  };
  const CASES: readonly (readonly [JsonSchema, unknown, string])[] = [
    [{ type: 'integer' }, undefined, 'it is required.'],
    [{ type: 'integer' }, '1', 'it must be an integer.'],
    [{ type: 'string' }, 1, 'it must be a string.'],
    [{ type: ['string', 'null'] }, 1, 'it must be a string or null.'],
    [{ type: 'object' }, 1, 'it must be an object.'],
    [{ type: 'array' }, 1, 'it must be an array.'],
    [{ type: 'boolean' }, 1, 'it must be a boolean.'],
    [{ type: 'integer', minimum: 60 }, 59, 'it must be at least 60.'],
    [{ type: 'integer', maximum: 60 }, 61, 'it must be at most 60.'],
    [{ type: 'string', minLength: 1 }, '', 'it must have at least 1 character.'],
    [{ type: 'string', maxLength: 2 }, 'abc', 'it must have at most 2 characters.'],
    [{ type: 'array', minItems: 1 }, [], 'it must have at least 1 item.'],
    [{ type: 'array', maxItems: 2 }, [1, 2, 3], 'it must have at most 2 items.'],
    [{ type: 'array', uniqueItems: true }, [1, 1], 'it must not contain duplicates.'],
    [{ type: 'string', enum: ['a', 'b'] }, 'c', 'it must be one of a, b.'],
    [{ type: 'string', const: 'a' }, 'b', 'it must be a.'],
  ];
  for (const [schema, value, message] of CASES)
    it(message, () => {
      expect(told(schema, value)).to.equal(message);
    });
});
