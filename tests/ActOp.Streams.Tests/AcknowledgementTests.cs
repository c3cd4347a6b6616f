using ActOp.Streams;
using Orleans.Streams;

namespace ActOp.Streams.Tests;

public class AcknowledgementTests
{
    private readonly Queue<IList<IBatchContainer>> _purged = new();
    private readonly List<int[]> _told = [];
    private readonly Acknowledgements _acknowledgements;
    private Func<Task> _answer = static () => Task.CompletedTask;

    public AcknowledgementTests() => _acknowledgements = new Acknowledgements(
        () => _purged.TryDequeue(out var batches) ? batches : null,
        batches =>
        {
            _told.Add([.. batches.Cast<Batch>().Select(static batch => batch.Number)]);
            return _answer();
        });

    [Fact]
    public async Task One_that_was_refused_is_told_again_also_if_nothing_new_comes()
    {
        Purge(1, 2);
        _answer = static () => Task.FromException(new IOException("The queue does not answer."));
        await Assert.ThrowsAsync<IOException>(() => _acknowledgements.TellAsync().AsTask());
        _answer = static () => Task.CompletedTask;
        await _acknowledgements.TellAsync();
        await _acknowledgements.TellAsync();
        Assert.Equal([[1, 2], [1, 2]], _told);
    }

    [Fact]
    public async Task What_is_given_up_meanwhile_is_told_after_it_and_nothing_twice()
    {
        var first = new TaskCompletionSource();
        _answer = () => first.Task;
        Purge(1);
        var under = _acknowledgements.TellAsync();
        Purge(2);
        await _acknowledgements.TellAsync();
        Assert.Equal([[1]], _told);
        _answer = static () => Task.CompletedTask;
        first.SetResult();
        await under;
        Assert.Equal([[1], [2]], _told);
    }

    [Fact]
    public async Task A_receiver_that_refuses_for_ever_does_not_hold_the_next_ones()
    {
        Purge(1);
        _answer = static () => Task.FromException(new IOException("The queue has no such message."));
        for (var refusal = 0; refusal < Acknowledgements.MostRefusals; refusal++)
            await Assert.ThrowsAsync<IOException>(() => _acknowledgements.TellAsync().AsTask());
        Assert.Null(_acknowledgements.Left());
        _answer = static () => Task.CompletedTask;
        Purge(2);
        await _acknowledgements.TellAsync();
        Assert.Equal([2], _told[^1]);
    }

    [Fact]
    public async Task The_stop_tells_what_was_refused_and_what_came_since()
    {
        Purge(1);
        _answer = static () => Task.FromException(new IOException("The queue does not answer."));
        await Assert.ThrowsAsync<IOException>(() => _acknowledgements.TellAsync().AsTask());
        Purge(2);
        Assert.Equal([1, 2], _acknowledgements.Left()!.Cast<Batch>().Select(static batch => batch.Number));
    }

    private void Purge(params int[] numbers) => _purged.Enqueue([.. numbers.Select(static number => new Batch(number))]);

    private sealed class Batch(int number) : IBatchContainer
    {
        internal int Number => number;

        public StreamId StreamId => throw new NotSupportedException();

        public StreamSequenceToken SequenceToken => throw new NotSupportedException();

        public IEnumerable<Tuple<T, StreamSequenceToken>> GetEvents<T>() => throw new NotSupportedException();

        public bool ImportRequestContext() => throw new NotSupportedException();
    }
}
