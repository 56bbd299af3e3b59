// The sections of the operators' pages, by their paths below the platform. The texts name each of them.

export const SECTIONS = [
  ['', 'overview'],
  ['/held', 'held'],
  ['/disputes', 'disputes'],
  ['/payouts', 'payouts'],
  ['/connections', 'connections'],
  ['/accounts', 'accounts'],
  ['/security', 'security'],
  ['/settings', 'settings'],
] as const;
export type PlatformSection = (typeof SECTIONS)[number][1];
