using ActOp.TestClusters;

namespace ActOp.Calls.Tests.Cancellation;

/// <summary>A grain whose methods run until they are cancelled. Gates say what has happened in it.</summary>
public interface IPatient : IGrainWithGuidKey
{
    Task<SiloAddress> Seat();

    /// <summary>Runs until it is cancelled, and then fails with the exception for that.</summary>
    Task Wait(string started, string cancelled, CancellationToken cancellationToken);

    /// <summary>Runs until it is cancelled, and then answers in time.</summary>
    Task<string> AnswerWhenCancelled(string started, CancellationToken cancellationToken);

    /// <summary>Blocks the grain until the gate is open.</summary>
    Task Block(string gate);

    /// <summary>Lets another grain wait, with the same token.</summary>
    Task PassOn(IPatient other, string started, string cancelled, CancellationToken cancellationToken);

    /// <summary>Lets an observer wait, with the same token.</summary>
    Task Ask(IPatientObserver observer, string started, string cancelled, CancellationToken cancellationToken);

    /// <summary>Answers whether a callback on the token runs on a turn of the grain.</summary>
    Task<bool> HearsOnTurn(string started, CancellationToken cancellationToken);

    /// <summary>A callback on the token throws.</summary>
    Task ThrowsInCallback(string started, CancellationToken cancellationToken);

    ValueTask<bool> CanBeCancelled(CancellationToken cancellationToken = default);

    ValueTask<int> Add(int one, int two, CancellationToken cancellationToken);

    Task Leave();
}

public interface IPatientObserver : IGrainObserver
{
    Task Wait(string started, string cancelled, CancellationToken cancellationToken);
}

public sealed class PatientGrain : Grain, IPatient
{
    public Task<SiloAddress> Seat() => Task.FromResult(((IGrainBase)this).GrainContext.Address.SiloAddress!);

    public Task Wait(string started, string cancelled, CancellationToken cancellationToken) =>
        Patience.WaitAsync(started, cancelled, cancellationToken);

    public async Task<string> AnswerWhenCancelled(string started, CancellationToken cancellationToken)
    {
        var ended = new TaskCompletionSource();
        using var registration = cancellationToken.Register(ended.SetResult);
        Gate.Touch(started);
        await ended.Task;
        return "stopped";
    }

    public Task Block(string gate) => Gate.PassAsync(gate);

    public Task PassOn(IPatient other, string started, string cancelled, CancellationToken cancellationToken) =>
        other.Wait(started, cancelled, cancellationToken);

    public Task Ask(IPatientObserver observer, string started, string cancelled, CancellationToken cancellationToken) =>
        observer.Wait(started, cancelled, cancellationToken);

    public async Task<bool> HearsOnTurn(string started, CancellationToken cancellationToken)
    {
        var turns = TaskScheduler.Current;
        var heard = new TaskCompletionSource<bool>();
        using var registration = cancellationToken.Register(() => heard.SetResult(TaskScheduler.Current == turns));
        Gate.Touch(started);
        return await heard.Task;
    }

    public async Task ThrowsInCallback(string started, CancellationToken cancellationToken)
    {
        var ended = new TaskCompletionSource();
        using var first = cancellationToken.Register(ended.SetResult);
        using var second = cancellationToken.Register(() => throw new InvalidOperationException("from a callback"));
        Gate.Touch(started);
        await ended.Task;
    }

    public ValueTask<bool> CanBeCancelled(CancellationToken cancellationToken = default) => new(cancellationToken.CanBeCanceled);

    public ValueTask<int> Add(int one, int two, CancellationToken cancellationToken) => new(one + two);

    public Task Leave()
    {
        MigrateOnIdle();
        return Task.CompletedTask;
    }
}

public sealed class PatientObserver : IPatientObserver
{
    public Task Wait(string started, string cancelled, CancellationToken cancellationToken) =>
        Patience.WaitAsync(started, cancelled, cancellationToken);
}

internal static class Patience
{
    internal static async Task WaitAsync(string started, string cancelled, CancellationToken cancellationToken)
    {
        Gate.Touch(started);
        try
        {
            await new TaskCompletionSource().Task.WaitAsync(cancellationToken);
        }
        catch (OperationCanceledException)
        {
            Gate.Touch(cancelled);
            throw;
        }
    }
}
