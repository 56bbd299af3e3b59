export const providerCommands = [];
