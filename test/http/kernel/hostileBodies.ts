// Bodies of up to 64 kB made to be as expensive as possible: long keys, many keys, many items, bad strings, deep nesting.
import fc from 'fast-check';
import type { Route } from '../../../http/kernel/route.ts';
import { bodyOf } from '../examples/routeExamples.ts';

export const BODY_BYTES_MAX = 64 * 1024;
/** Leaves room for the rest of the body. */
const HOSTILE_BYTES = BODY_BYTES_MAX - 2_048;

const repeated = (unit: string, bytes: number): string =>
  unit.repeat(Math.max(1, Math.floor(bytes / Buffer.byteLength(unit))));
const filled = (open: string, unit: string, close: string, bytes: number): string => {
  const room = bytes - Buffer.byteLength(open) - Buffer.byteLength(close) + 1;
  return `${open}${repeated(`${unit},`, room).slice(0, -1)}${close}`;
};
/** Returns an object with as many distinct members as fit. */
const members = (bytes: number, member: (n: number) => string): string => {
  let text = '{';
  for (let n = 0; text.length + 64 < bytes; n++) text += `${n === 0 ? '' : ','}${member(n)}`;
  return `${text}}`;
};

/** Content of a JSON string. */
const piece = fc.constantFrom(
  'a',
  'é',
  '.',
  'x.y',
  '\\u0000',
  '\\ud800',
  '\\u0001',
  '\\"',
  '😀',
  '/',
  '~1',
  '__proto__',
  '9',
);
const badPiece = fc.constantFrom('\\u0000', '\\ud800', 'a\\u0000');
const scalar = fc.constantFrom(
  '0',
  '-1',
  '1e400',
  '9007199254740993',
  'null',
  'true',
  '{}',
  '[]',
  '""',
  '"PIX"',
  '"charge.paid"',
);
const item = fc.oneof(
  scalar,
  badPiece.map((text) => `"${text}"`),
  fc.constantFrom('[[0]]', '{"a":"\\u0000"}', '1.5'),
);
const share = fc.constantFrom(0.05, 0.5, 0.9);
const longKey = fc.tuple(piece, fc.constantFrom(1, 3_000, 30_000)).map(([text, bytes]) => repeated(text, bytes));

/** Generates a JSON value of about `bytes` bytes. */
const hostileValue = (bytes: number): fc.Arbitrary<string> =>
  fc.oneof(
    item.map((one) => filled('[', one, ']', bytes)),
    piece.map((text) => `"${repeated(text, bytes - 2)}"`),
    fc.tuple(piece, item).map(([name, one]) => members(bytes, (n) => `"${name}${n}":${one}`)),
    item.map((one) => members(bytes, (n) => `"${n * 4_097}":${one}`)),
    fc.tuple(badPiece, item).map(([name, one]) => members(bytes, (n) => `"${n}${name}":${one}`)),
    item.map((one) => filled('{', `"same":${one}`, '}', bytes)),
    fc.constantFrom('[', '{"a":').map((open) => {
      const depth = Math.floor(bytes / (open.length + 1));
      return `${open.repeat(depth)}0${(open === '[' ? ']' : '}').repeat(depth)}`;
    }),
    // Deep nesting, with a bad string on each level.
    badPiece.map((text) => {
      const level = `{"b":"${text}","a":`;
      const depth = Math.floor(bytes / (Buffer.byteLength(level) + 1));
      return `${level.repeat(depth)}0${'}'.repeat(depth)}`;
    }),
    // A long name around many bad strings: each error repeats the name unless it is cut.
    fc.tuple(longKey, badPiece, share).map(([key, text, part]) => {
      const name = key.slice(0, Math.floor(bytes * part));
      const whole = name.replace(/\\u?[0-9a-f]{0,3}$/, '');
      return filled(`{"${whole}":[`, `"${text}"`, ']}', bytes);
    }),
    // Two values that only differ at the end of a long prefix.
    fc.constantFrom('[', '{"a":').map((open) => {
      const depth = Math.floor(bytes / 2 / (open.length + 1)) - 8;
      const one = `${open.repeat(depth)}0${(open === '[' ? ']' : '}').repeat(depth)}`;
      return `[${one},${one}]`;
    }),
  );

const hostile = share.chain((part) => hostileValue(Math.floor(HOSTILE_BYTES * part)));

/** Generates a body for the route as JSON text: a valid example with one hostile field, or the hostile value alone. */
export const hostileBody = (route: Route, example: object): fc.Arbitrary<string> => {
  const properties = Object.entries(bodyOf(route)?.schema.properties ?? {});
  const parts = properties.flatMap(([field, { properties: inner }]) =>
    Object.keys(inner ?? {}).map((part) => [field, part] as const),
  );
  const places = [
    ...properties.map(([field]) => [field] as const),
    ...parts,
    ['metadata', 'description'] as const,
    ['other'] as const,
  ];
  const inPlace = fc.tuple(fc.constantFrom(...places), hostile).map(([[field, part], value]) => {
    const rest = JSON.stringify(example).slice(1, -1);
    const hostileField = part === undefined ? `"${field}":${value}` : `"${field}":{"${part}":${value}}`;
    return `{${rest === '' ? '' : `${rest},`}${hostileField}}`;
  });
  const cut = hostile.map((text) => text.slice(0, -1));
  return fc.oneof({ weight: 8, arbitrary: inPlace }, { weight: 1, arbitrary: hostile }, { weight: 1, arbitrary: cut });
};
