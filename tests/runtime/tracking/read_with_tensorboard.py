"""read_with_tensorboard.py FOLDER: what TensorBoard would show of it. (PYTHONPATH has the package)"""
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import plugin_data_pb2

events = EventAccumulator(sys.argv[1], size_guidance={"tensors": 0, "scalars": 0})
events.Reload()
for tag in events.Tags()["scalars"]:
    print("scalar", tag, [(event.step, event.wall_time, event.value) for event in events.Scalars(tag)])
for tag in events.Tags()["tensors"]:
    plugin = events.SummaryMetadata(tag).plugin_data
    if plugin.plugin_name == "text":
        print("text", tag, [(event.step, event.tensor_proto.string_val[0].decode()) for event in events.Tensors(tag)])
    if plugin.plugin_name == "scalars":
        print("scalar", tag, [(event.step, event.wall_time, event.tensor_proto.float_val[0])
                              for event in events.Tensors(tag)])
    if plugin.plugin_name == "hparams":
        data = plugin_data_pb2.HParamsPluginData.FromString(plugin.content)
        values = data.session_start_info.hparams
        print("hparams", tag, data.session_start_info.group_name, data.session_end_info.status,
              {name: getattr(values[name], values[name].WhichOneof("kind")) for name in sorted(values)})
