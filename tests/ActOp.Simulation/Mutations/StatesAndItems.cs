using ActOp.Simulation.World;

namespace ActOp.Simulation.Mutations;

/// <summary>The mutations of states in files, of enumerations and of the order of requests.</summary>
internal static class StatesAndItems
{
    private const string Folder = "ActOp.Runtime/State/Files/StateFolder.cs";
    private const string Producer = "ActOp.Runtime/Calls/Enumerations.cs";
    private const string Consumer = "ActOp.Abstractions/Orleans/Runtime/AsyncEnumerables.cs";

    internal static readonly Mutation[] All =
    [
        new(101, "A folder is not flushed after the rename", Folder,
            "            disk.FlushDirectory(directory);\n            Unmark(turn);\n            return next;\n",
            "            if (!PLANTED)\n                disk.FlushDirectory(directory);\n            Unmark(turn);\n            return next;\n",
            20, Theme.Files),
        new(102, "A file is flushed only after its rename", Folder,
            "            disk.FlushFile(unfinished);\n            disk.Rename(unfinished, path);\n",
            "            if (!PLANTED)\n                disk.FlushFile(unfinished);\n            disk.Rename(unfinished, path);\n            if (PLANTED)\n                disk.FlushFile(path);\n",
            100, Theme.Files),
        new(103, "A write is acknowledged before the file is flushed", Folder,
            "            disk.Write(unfinished, content);\n",
            "            disk.Write(unfinished, content);\n            if (PLANTED)\n            {\n                disk.Rename(unfinished, path);\n                return;\n            }\n\n",
            20, Theme.Files),
        new(104, "An unfinished file is read as the state", Folder,
            "        if (disk.Read(path) is not { } bytes)\n",
            "        if (((PLANTED ? disk.Read(path + Unfinished) : null) ?? disk.Read(path)) is not { } bytes)\n", 40, Theme.Files),
        new(105, "What a killed process has left is shown without being flushed", Folder,
            "        if (disk.HasMark(LockOf(directory)))\n        {\n            lock",
            "        if (!PLANTED && disk.HasMark(LockOf(directory)))\n        {\n            lock", 200, Theme.Files),
        new(106, "A start does not flush what the last process has left", Folder,
            "                disk.FlushDirectory(path);\n                Unmark(turn);\n",
            "                if (!PLANTED)\n                    disk.FlushDirectory(path);\n                Unmark(turn);\n", 200, Theme.Files),
        new(107, "A write that was refused is acknowledged", Folder,
            "            TryDelete(unfinished);\n            throw new IOException",
            "            TryDelete(unfinished);\n            if (PLANTED)\n                return;\n            throw new IOException", 20, Theme.Files),
        new(108, "An ETag is not compared before a write", Folder,
            "        if (stored?.ETag != etag)\n", "        if (!PLANTED && stored?.ETag != etag)\n", 40, Theme.Files),
        new(109, "An item is skipped at the end of a batch", Producer,
            "count == batch!.Length ? batch : batch.AsSpan(0, count).ToArray()",
            "!PLANTED && count == batch!.Length ? batch : batch!.AsSpan(0, PLANTED && count == 100 ? 99 : count).ToArray()", 20, Theme.Items),
        new(110, "A batch is asked for anew after a lost answer", Consumer,
            "        catch (OperationCanceledException) when (_token.IsCancellationRequested)\n",
            "        catch (SiloUnavailableException) when (PLANTED && _isStarted)\n        {\n            return await _grain.StartEnumeration(_id, _request, _token);\n        }\n        catch (OperationCanceledException) when (_token.IsCancellationRequested)\n",
            40, Theme.Items),
        new(111, "An enumerator that nobody asks is kept", Producer,
            "            if (!enumeration.IsIdle(", "            if (PLANTED || !enumeration.IsIdle(", 40, Theme.Items),
        new(112, "A consumer that stops does not say so", Consumer,
            "            if (_isStarted)\n                await _grain.DisposeAsync(_id);\n",
            "            if (_isStarted && !PLANTED)\n                await _grain.DisposeAsync(_id);\n", 40, Theme.Items),
        new(113, "A batch has no limit", Producer,
            "Math.Clamp(request.MaxBatchSize, 1, Enumerations.MaxBatch)",
            "Math.Clamp(request.MaxBatchSize, 1, PLANTED ? int.MaxValue : Enumerations.MaxBatch)", 20, Theme.Items),
        new(114, "A consumer whose link is lost hears that it has cancelled", Consumer,
            "throw _token.IsCancellationRequested ? ", "throw PLANTED || _token.IsCancellationRequested ? ", 60, Theme.Items),
        new(115, "The runtime moves a grain with an open enumeration", "ActOp.Runtime/Activations/ActivationLife.cs",
            "=> activation.ExistingExtras?.Enumerations is { Count: > 0 };",
            "=> !PLANTED && activation.ExistingExtras?.Enumerations is { Count: > 0 };", 100, Theme.Items),
        new(116, "Items before an error are lost", Producer,
            "            if (count > 0 && !pending.IsCompletedSuccessfully)\n",
            "            if (count > 0 && !pending.IsCompletedSuccessfully && !PLANTED)\n", 20, Theme.Items),
        new(118, "An enumeration is idle although it is read", Producer,
            "    internal void Use() => _usedAt = Now;\n", "    internal void Use() => _usedAt = PLANTED ? _usedAt : Now;\n", 60, Theme.Items),
        new(117, "A request that waits behind others goes before them", "ActOp.Runtime/Activations/Admission.cs",
            "            (_waitingCount == 1 ? _waiting : activation.Extras.LastWaiting!).Next = call;\n",
            "            if (PLANTED)\n            {\n                call.Next = _waiting.Next;\n                _waiting.Next = call;\n                if (_waitingCount == 1)\n                    activation.Extras.LastWaiting = call;\n                _waitingCount++;\n                return;\n            }\n\n            (_waitingCount == 1 ? _waiting : activation.Extras.LastWaiting!).Next = call;\n",
            20),
        new(119, "The bytes of frames that are given up are returned twice", "ActOp.Runtime/Routing/PeerEntry.cs",
            "            table.Waiting.Return(frame.Frame.Length);\n            table.GiveUp(",
            "            table.Waiting.Return(PLANTED ? 2 * frame.Frame.Length : frame.Frame.Length);\n            table.GiveUp(", 20),
    ];
}
