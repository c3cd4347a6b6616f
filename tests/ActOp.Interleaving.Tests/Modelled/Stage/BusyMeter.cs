namespace ActOp.Staging.Measuring;

/// <summary>Measures nothing.</summary>
internal sealed class BusyMeter(string stage)
{
    internal BusyTime Total => stage is null ? default : new BusyTime(0, 0, 0, 0);

    internal void Begin()
    {
    }

    internal void End(int items)
    {
    }
}
