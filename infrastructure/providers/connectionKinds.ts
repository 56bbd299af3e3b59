// The adapters of connections by kind.
import type { ConnectionSecrets, OpenConnection } from '../../application/ports/providerConnections.ts';
import type { ConnectionTerms } from '../../domain/providerConnection/connection.ts';
import type { PixApiNeeds } from './pixApi/needs.ts';
import { openPixApi } from './pixApi/pixApi.ts';
import { PRESETS } from './pixApi/presets/presets.ts';

/** Opens the adapter of a connection. It makes no call yet. */
export type OpenAdapter = (terms: ConnectionTerms, secrets: ConnectionSecrets, needs: PixApiNeeds) => OpenConnection;

export const openAdapter: OpenAdapter = openPixApi;
export const PRESET_NAMES = PRESETS;
