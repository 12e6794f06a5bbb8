/** Whether a text names nothing. */
export const isBlank = (text: string): boolean => text.trim() === "";
