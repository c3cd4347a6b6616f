using ActOp.Runtime.Routing;
using ActOp.Staging;

namespace ActOp.Calls.Tests;

/// <summary>Who flushes a link: the first table of that section of docs/path.md.</summary>
public sealed class FlushDecisionTests
{
    [Fact]
    public void A_thread_of_nobody_leaves_the_frame_to_the_link() => Assert.Equal(FlushedBy.Link, SendBatch.Decide(isControl: false));

    [Fact]
    public async Task A_thread_that_runs_stage_items_flushes_in_its_pause_and_frames_of_the_control_channel_at_once() =>
        Assert.Equal((FlushedBy.Pause, FlushedBy.Link), await InItemAsync(static () => { }));

    [Fact]
    public async Task A_stage_without_pauses_leaves_the_frame_to_the_link() =>
        Assert.Equal((FlushedBy.Link, FlushedBy.Link), await InItemAsync(null));

    private static async Task<(FlushedBy Data, FlushedBy Control)> InItemAsync(Action? onPause)
    {
        using var stage = new Stage("decides", 1, StageMode.OwnThreads, static _ => { }, onPause);
        var item = new DecidingItem();
        stage.Post(item);
        return await item.Decision.Task;
    }

    private sealed class DecidingItem : IStageItem
    {
        internal TaskCompletionSource<(FlushedBy Data, FlushedBy Control)> Decision { get; } =
            new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Execute() => Decision.SetResult((SendBatch.Decide(isControl: false), SendBatch.Decide(isControl: true)));
    }
}
