namespace ActOp.TestClusters;

public interface IWatched : IGrainWithGuidKey
{
    Task End();

    /// <summary>A timer ticks once; its callback throws.</summary>
    Task Tick();
}

public sealed class Watched : Grain, IWatched
{
    public Task End()
    {
        DeactivateOnIdle();
        return Task.CompletedTask;
    }

    public Task Tick()
    {
        this.RegisterGrainTimer(static () => throw new InvalidOperationException("tick"), TimeSpan.Zero, Timeout.InfiniteTimeSpan);
        return Task.CompletedTask;
    }
}
