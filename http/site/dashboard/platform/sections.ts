// The sections of the operators' pages, by their paths below the platform. The texts name each of them.

export const SECTIONS = [
  ['', 'overview'],
  ['/held', 'held'],
  ['/disputes', 'disputes'],
  ['/payouts', 'payouts'],
  ['/connections', 'connections'],
  ['/accounts', 'accounts'],
  ['/operators', 'operators'],
  ['/dead-letters', 'deadLetters'],
  ['/system', 'system'],
  ['/audit', 'audit'],
  ['/erasure', 'erasure'],
  ['/security', 'security'],
  ['/settings', 'settings'],
] as const;
export type PlatformSection = (typeof SECTIONS)[number][1];

/** The pages of the section about the system. */
export const SYSTEM_TABS = [
  ['/system', 'health'],
  ['/parked', 'parked'],
  ['/jobs', 'jobs'],
  ['/read-models', 'readModels'],
] as const;
export type PlatformTab = (typeof SYSTEM_TABS)[number][1];
