/** What steady work cost an object. */
export interface Steady {
  /** Times that the alarm was set. */
  readonly alarms: number;
  readonly rows: number;
  readonly steps: number;
  readonly lines: number;
}
