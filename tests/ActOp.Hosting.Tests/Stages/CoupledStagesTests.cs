using ActOp.Configuration;
using ActOp.Runtime.Stages;
using ActOp.Staging.Control;

namespace ActOp.Hosting.Tests.Stages;

public class CoupledStagesTests
{
    private readonly CoupledStages _coupled = new();

    [Fact]
    public void Stages_that_are_apart_stay_as_they_are()
    {
        _coupled.Note(0.5);
        Assert.Equal(4, _coupled.Join(Stages(10e-6, 200e-6)).Count);
        Assert.Equal([1, 2, 3, 4], _coupled.Split([1, 2, 3, 4]));
    }

    [Fact]
    public void One_thread_reads_for_several_that_run_long_turns() =>
        Assert.Equal([1, 2, 1, 1], Split(2, read: 10e-6, turn: 200e-6));

    [Fact]
    public void All_threads_read_when_turns_are_as_short_as_reading() =>
        Assert.Equal([Math.Min(3, StageOptions.DefaultThreads), 3, 1, 1], Split(3, read: 10e-6, turn: 10e-6));

    [Fact]
    public void No_more_threads_read_than_there_are_processors() =>
        Assert.Equal(StageOptions.DefaultThreads, Split(40 * StageOptions.DefaultThreads, read: 10e-6, turn: 1e-6)[0]);

    [Fact]
    public void Somebody_reads_always() => Assert.Equal([1, 1, 1, 1], Split(1, read: 0, turn: 200e-6));

    [Fact]
    public void Noise_does_not_change_who_reads()
    {
        // At 5.8 and 6.2 of 20 microseconds two threads need 1.16 and 1.24 readers.
        Assert.Equal(1, Split(2, read: 5e-6, turn: 15e-6)[0]);
        Assert.Equal(1, Split(2, read: 5.8e-6, turn: 14.2e-6)[0]);
        var two = Math.Min(2, StageOptions.DefaultThreads);
        Assert.Equal(two, Split(2, read: 7e-6, turn: 13e-6)[0]);
        Assert.Equal(two, Split(2, read: 4.5e-6, turn: 15.5e-6)[0]);
        Assert.Equal(1, Split(2, read: 3e-6, turn: 17e-6)[0]);
    }

    private IReadOnlyList<int> Split(int threads, double read, double turn)
    {
        _coupled.Note(1);
        Assert.Equal(3, _coupled.Join(Stages(read, turn)).Count);
        return _coupled.Split([threads, 1, 1]);
    }

    private static StagePeriod[] Stages(double read, double turn)
    {
        StagePeriod other = new(1, 0, default);
        return [new(1, 0, new(read == 0 ? 0 : 1000, read)), new(1, 0, new(1000, turn)), other, other];
    }
}
