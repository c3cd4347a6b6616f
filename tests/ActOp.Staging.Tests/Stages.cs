namespace ActOp.Staging.Tests;

/// <summary>Stages for tests.</summary>
internal static class Stages
{
    /// <summary>Far beyond any machine's slowness; only a defect reaches it.</summary>
    internal static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    internal static Stage New(int threads, Action? onPause = null, Action? onHeld = null) =>
        new("test", threads, StageMode.OwnThreads, static error => throw new InvalidOperationException("An item threw.", error),
            onPause)
        { OnHeld = onHeld };

    /// <summary>Waits until all threads are parked; one that only counts as asleep may still look for work once more.</summary>
    internal static void Settle(Stage stage) =>
        Until(() => stage.IsAsleep && Array.TrueForAll(stage.Workers, static worker => worker.IsParked));

    internal static void Until(Func<bool> condition) => Assert.True(ComesTrue(condition));

    /// <summary>Waits, within bounds, for what threads of a stage do on their own.</summary>
    internal static bool ComesTrue(Func<bool> condition) => SpinWait.SpinUntil(condition, Patience);

    internal static Task Stop(Stage stage) => stage.StopAsync().WaitAsync(Patience);
}
