// What the stored data of an event need not say: fields whose value is told beside it already, or is nearly always the same. They are left
// out while they have that value, and are there again when the event is read.
import type { Json } from './json.ts';

/** What is known of an event without its data. */
export interface Surroundings {
  /** The part of the stream's name after the category. */
  readonly subject: string;
  readonly account: string;
  readonly mode: string;
  readonly correlationId: string;
}

type Plain = null | boolean | number | string;
/** `after`: the text that precedes what is known; default: none does. */
export type Unsaid = { readonly is: keyof Surroundings; readonly after?: string } | { readonly usually: Plain };
/** By path, with dots between the keys. It holds for all versions of an event. */
export type UnsaidFields = Readonly<Record<string, Unsaid>>;

/** The same as a tree: a field of an object, or an object with such fields. */
type Rules = ReadonlyMap<string, Unsaid | Rules>;

export const rulesOf = (fields: UnsaidFields): Rules => {
  const rules = new Map<string, Unsaid | Rules>();
  const inner = Map.groupBy(Object.entries(fields), ([path]) => path.split('.', 1)[0] as string);
  for (const [key, entries] of inner) {
    const below = entries.map(([path, unsaid]) => [path.slice(key.length + 1), unsaid] as const);
    const [[rest, own]] = below as [readonly [string, Unsaid]];
    rules.set(key, rest === '' ? own : rulesOf(Object.fromEntries(below)));
  }
  return rules;
};

const impliedValue = (unsaid: Unsaid, around: Surroundings): Plain => {
  if ('usually' in unsaid) return unsaid.usually;
  const { is, after } = unsaid;
  return after === undefined ? around[is] : after + around[is];
};

type Fields = { readonly [key: string]: Json };
const isObject = (data: Json | undefined): data is Fields =>
  typeof data === 'object' && data !== null && !Array.isArray(data);

/** Returns the data without what the rules leave out, in its order. */
export const leaveOut = (data: Json, rules: Rules, around: Surroundings): Json => {
  if (rules.size === 0 || !isObject(data)) return data;
  const said: Record<string, Json> = {};
  for (const key of Object.keys(data)) {
    const value = data[key] as Json;
    const rule = rules.get(key);
    if (rule === undefined) said[key] = value;
    else if (rule instanceof Map) said[key] = leaveOut(value, rule, around);
    else if (value !== impliedValue(rule as Unsaid, around)) said[key] = value;
  }
  return said;
};

/** Returns the data with what the rules left out, in any order. */
export const fillIn = (data: Json, rules: Rules, around: Surroundings): Json => {
  if (rules.size === 0 || !isObject(data)) return data;
  const whole: Record<string, Json> = { ...data };
  for (const [key, rule] of rules) {
    if (!(rule instanceof Map))
      whole[key] = Object.hasOwn(data, key) ? (data[key] as Json) : impliedValue(rule as Unsaid, around);
    else if (isObject(data[key])) whole[key] = fillIn(data[key], rule, around);
  }
  return whole;
};
