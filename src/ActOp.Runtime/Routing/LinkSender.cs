using ActOp.Mesh;
using ActOp.Staging;

namespace ActOp.Runtime.Routing;

/// <summary>A link as an item of its send stage: one run is one write to the socket of all that has gathered.</summary>
internal sealed class LinkSender(Link link, Stage stage) : IStageItem
{
    /// <summary>Writes of an appending thread before the stage takes over: others append faster than it can write.</summary>
    private const int OwnFlushes = 3;

    /// <summary>
    /// Somebody has put a frame into the idle link. If the whole stage sleeps, the thread writes the frame itself: that costs
    /// less than waking another to do it.
    /// </summary>
    internal void Schedule()
    {
        if (stage.IsAsleep)
        {
            for (var left = OwnFlushes; left > 0; left--)
            {
                if (link.Flush() != FlushResult.More)
                    return;
            }
        }

        stage.Post(this);
    }

    public void Execute()
    {
        if (link.Flush() == FlushResult.More)
            stage.Post(this);
    }
}
