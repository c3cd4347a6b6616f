namespace ActOp.Planted;

/// <summary>A session that ends when it was not used for a minute.</summary>
public interface ISession : IGrainWithStringKey
{
    Task Use();

    Task<bool> HasEnded();
}

/// <summary>Measures time with a clock that can be set.</summary>
public interface IWallSession : ISession;

/// <summary>Measures time with a clock that only goes on.</summary>
public interface ISteadySession : ISession;

public sealed class WallSession(TimeProvider time) : Grain, IWallSession
{
    private DateTimeOffset _used;

    public Task Use()
    {
        _used = time.GetUtcNow();
        return Task.CompletedTask;
    }

    public Task<bool> HasEnded() => Task.FromResult(time.GetUtcNow() - _used > TimeSpan.FromMinutes(1));
}

public sealed class SteadySession(TimeProvider time) : Grain, ISteadySession
{
    private long _used;

    public Task Use()
    {
        _used = time.GetTimestamp();
        return Task.CompletedTask;
    }

    public Task<bool> HasEnded() => Task.FromResult(time.GetElapsedTime(_used) > TimeSpan.FromMinutes(1));
}

/// <summary>A clock that is set ends what was just used.</summary>
internal static class SessionFaults
{
    internal static PlantedFault Fault { get; } = new(
        "session", "the time since the last use is measured with a clock that is set", UseAsync<IWallSession>, UseAsync<ISteadySession>,
        "The session has ended", 2, 3);

    private static async Task UseAsync<TSession>(SimulationWorld world)
        where TSession : ISession
    {
        world.RandomFaults(clocks: true);
        await world.Start();
        var session = world.Grains.GetGrain<TSession>("alice");
        for (var use = 1; use <= 10; use++)
        {
            await world.Command("use it", async () =>
            {
                await session.Use();
                await world.Delay(TimeSpan.FromSeconds(2));
                world.Check(!await session.HasEnded(), "The session has ended two seconds after it was used.");
            });
        }
    }
}
