// The known presets.
import { efi } from './efi.ts';
import { generic } from './generic.ts';
import { inter } from './inter.ts';
import type { Preset } from './preset.ts';
import { sicredi } from './sicredi.ts';

const ALL: readonly Preset[] = [generic, efi, inter, sicredi];

/** Returns the preset, or null if the name is unknown. */
export const presetNamed = (name: string): Preset | null => ALL.find((preset) => preset.name === name) ?? null;

/** Names for `--preset`. */
export const PRESETS: readonly string[] = ALL.map(({ name }) => name);
